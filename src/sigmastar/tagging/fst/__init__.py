"""Sequential transducers: how taggers, rules and phrases become one machine."""
