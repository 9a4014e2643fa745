"""Questions to a model: score, smooth, decode, filter, forecast, sample."""
