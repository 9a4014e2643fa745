"""Small data that come with the package: tagged English sentences, and names in two scripts."""
