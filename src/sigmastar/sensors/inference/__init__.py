"""What a continuous tagger says of frames: scores, labels, streams, search."""
