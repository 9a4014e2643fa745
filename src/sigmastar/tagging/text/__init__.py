"""Text in and out: bytes to classes, tags to bytes."""
