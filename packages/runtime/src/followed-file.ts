// A process follows a file: what stands in it now is taken where it can be, and whatever else stands there is told of once and changes nothing.
import { hash } from 'node:crypto'
import { kindOf } from './errors.ts'
import type { BatonError } from './errors.ts'
import { problemOf, readRegularFile } from './regular-file.ts'

export interface FollowedFile {
  readonly path: string
  /** No more of it is read than this. */
  readonly bytesMax: number
  /** The permanent error of a file that cannot be read, for example because of `ENOENT`, or is too large. */
  invalid(problem: string): BatonError
  /** Whether the process goes by these bytes already. */
  isTaken(sha256: string): boolean
  /** Goes by them from now on. A permanent error refuses them; after any other they are tried again with the next look. */
  take(bytes: Uint8Array, sha256: string): Promise<void> | void
  /** Is told once of what was refused, however often it is looked at, until the file is another one. */
  refused(error: BatonError): void
  /** Is told once that the process goes by what stands there again, after something else was refused. */
  mended?(): void
}

/** Answers what looks at the file once. It throws what may pass, and never what is wrong with the file. */
export function createFileLook(file: FollowedFile): () => Promise<void> {
  const { isTaken, take, refused, mended } = file
  let refusedLast: string | undefined
  return async () => {
    let found = 'unreadable'
    try {
      const bytes = await read(file)
      found = hash('sha256', bytes)
      if (found === refusedLast) return
      if (!isTaken(found)) await take(bytes, found)
      if (refusedLast !== undefined) mended?.()
      refusedLast = undefined
    } catch (error) {
      if (kindOf(error) !== 'permanent') throw error
      if (found === refusedLast) return
      refusedLast = found
      refused(error as BatonError)
    }
  }
}

/** A file system that does not answer holds up nothing else. */
async function read({ path, bytesMax, invalid }: FollowedFile): Promise<Uint8Array> {
  try {
    return await readRegularFile(path, bytesMax)
  } catch (error) {
    throw invalid(problemOf(error, bytesMax))
  }
}
