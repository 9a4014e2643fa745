"""What a tagger says of frames: scores, labels, streams, search."""
