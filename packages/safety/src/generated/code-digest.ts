// Generated from the scanner's code by generate-code-digest.ts; do not edit.
export const CODE_DIGEST = '2851e193d2a24beab77f80aac012270c0c41ccfa0d0259fd209e37bfc09a17ae'
