// Generated from the scanner's code by generate-code-digest.ts; do not edit.
export const CODE_DIGEST = '0282d235322b385ea31e3e386697f33144d6d947fe7b9208aa1dfb80b6e2c26f'
