// Generated from the scanner's code by generate-code-digest.ts; do not edit.
export const CODE_DIGEST = '470762647a11302087f9fb3bd8a0bf352b0c99d4b3fb75a0b61367adc58faa49'
