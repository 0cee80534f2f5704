// Generated from the scanner's code by generate-code-digest.ts; do not edit.
export const CODE_DIGEST = '71fca85884e2096064c70d40cc27fa13f09e639cfa0a948f9b5e19898a8b126f'
