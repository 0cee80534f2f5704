// Reads a file that a setting names, whole and once: what cannot be read, or is larger than such a file ever is, is said in words.
import type { BatonError } from './errors.ts'
import { FILE_BYTES_MAX, problemOf, readRegularFileNow } from './regular-file.ts'

/** Throws the error that `invalid` makes of what is wrong with it, for example `cannot be read (ENOENT)`. */
export function readNamedFile(path: string, invalid: (problem: string) => BatonError): Buffer {
  try {
    return readRegularFileNow(path)
  } catch (error) {
    throw invalid(problemOf(error, FILE_BYTES_MAX))
  }
}
