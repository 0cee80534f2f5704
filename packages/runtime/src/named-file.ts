// Reads a file that a setting names, whole and once: what cannot be read, or is larger than such a file ever is, is said in words.
import { readFileSync, statSync } from 'node:fs'
import type { BatonError } from './errors.ts'

const BYTES_MAX = 1_048_576

/** Throws the error that `invalid` makes of what is wrong with it, for example `cannot be read (ENOENT)`. */
export function readNamedFile(path: string, invalid: (problem: string) => BatonError): Buffer {
  const bytes = read(path, invalid)
  if (bytes === undefined) throw invalid(`is larger than ${BYTES_MAX} bytes`)
  return bytes
}

/** Undefined where it is too large, which is seen before it is read. */
function read(path: string, invalid: (problem: string) => BatonError): Buffer | undefined {
  try {
    return statSync(path).size > BYTES_MAX ? undefined : readFileSync(path)
  } catch (error) {
    throw invalid(`cannot be read (${(error as { code?: string }).code ?? 'unknown'})`)
  }
}
