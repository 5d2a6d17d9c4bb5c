#!/bin/sh
# Answers as olmguard does.
case $1 in
completions) echo "$2 of olmguard" ;;
man) for page in olmguard olmguard-check; do echo page > "$3/$page.1"; done ;;
esac
