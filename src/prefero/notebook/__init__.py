"""Teaching in a notebook: the widget of `Learner.widget`."""
