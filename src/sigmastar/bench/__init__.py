"""The experiments behind ``sigmastar bench``: each runs a published protocol and returns rows."""
