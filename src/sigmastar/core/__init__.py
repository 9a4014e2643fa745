"""What every station uses: errors, array types, parameter rules, randomness, progress."""
