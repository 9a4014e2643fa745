"""Pictures as text: arrays and labels in, SVG out. Knows nothing of models."""
