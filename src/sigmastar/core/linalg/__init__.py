"""Small linear algebra that several wings share."""
