"""From a posterior to the next question: acquisition functions and the searches that maximise them."""
