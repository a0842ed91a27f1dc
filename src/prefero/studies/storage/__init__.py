"""What a study keeps: the database with its schema and migrations, and the folders of its videos."""
