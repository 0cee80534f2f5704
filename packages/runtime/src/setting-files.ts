// A setting may stand in a file that `NAME_FILE` names instead of the environment, which whoever sees a process may see:
// a mounted secret of Docker or Kubernetes, or what a vault's agent writes.
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'

const FILE_BYTES_MAX = 65_536
const OTHERS_MAY_ANYTHING = 0o007
const GROUP_MAY_WRITE = 0o020
/** Modes of files say nothing there. */
const WINDOWS = process.platform === 'win32'

type Read = { readonly value: string } | { readonly problem: string }

/**
 * The text of the file at `path` without one newline at its end. What is confidential is not taken from a file that
 * others than owner and group may read, or that another than its owner may write.
 */
export function readSettingFile(path: string, isConfidential: boolean): Read {
  let file: number
  try {
    // Without waiting for whoever would write into a pipe.
    file = openSync(path, constants.O_RDONLY | (WINDOWS ? 0 : constants.O_NONBLOCK))
  } catch (error) {
    return { problem: unreadable(error) }
  }
  try {
    const { mode } = fstatSync(file)
    if ((mode & constants.S_IFMT) !== constants.S_IFREG)
      return { problem: 'is no file; name a regular file' }
    if (isConfidential && !WINDOWS && mode & (OTHERS_MAY_ANYTHING | GROUP_MAY_WRITE))
      return { problem: tooOpen(mode) }
    const bytes = Buffer.alloc(FILE_BYTES_MAX + 1)
    return textOf(bytes.subarray(0, readSync(file, bytes)))
  } catch (error) {
    return { problem: unreadable(error) }
  } finally {
    closeSync(file)
  }
}

function textOf(bytes: Buffer): Read {
  if (bytes.length > FILE_BYTES_MAX) return { problem: `is larger than ${FILE_BYTES_MAX} bytes` }
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    const value = text.replace(/\r?\n$/, '')
    return value === '' ? { problem: 'is empty; write the value into it' } : { value }
  } catch {
    return { problem: 'is not UTF-8' }
  }
}

const tooOpen = (mode: number): string =>
  `has mode ${(mode & 0o777).toString(8).padStart(4, '0')}, so that others may read or change a secret; chmod 0400 it, or 0440 for a group (in Kubernetes defaultMode: 0440 with an fsGroup)`

const unreadable = (error: unknown): string =>
  `cannot be read (${(error as { code?: string }).code ?? 'unknown'}); check the path and who may read it`
