"""From raw frames to features: windows, centroids, classifiers, stored as plain arrays."""
