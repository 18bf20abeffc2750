# What a program prints comes back.
import sys

print("Hello from Python", sys.version.split()[0])
