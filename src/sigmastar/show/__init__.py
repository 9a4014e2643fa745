"""What people look at: views of a model as plain records, report pages, plots."""
