"""What there is to see of a model: plain records that plots and reports draw."""
