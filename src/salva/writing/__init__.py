"""New test sentences: from templates and rules, checked by code and by text models, reviewed by people."""
