"""Sequential transducers and their calculus."""
