// A setting may stand in a file that `NAME_FILE` names instead of the environment, which whoever sees a process may see:
// a mounted secret of Docker or Kubernetes, or what a vault's agent writes.
import type { Stats } from 'node:fs'
import { codeOf } from './errors.ts'
import { problemOf, readRegularFileNow } from './regular-file.ts'

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
  const check = ({ mode }: Stats): void => {
    if (isConfidential && !WINDOWS && mode & (OTHERS_MAY_ANYTHING | GROUP_MAY_WRITE))
      throw Object.assign(new Error(), { code: TOO_OPEN, mode })
  }
  try {
    return textOf(readRegularFileNow(path, FILE_BYTES_MAX, check))
  } catch (error) {
    return { problem: wordsOf(error) }
  }
}

const TOO_OPEN = 'TOO_OPEN'

function wordsOf(error: unknown): string {
  const code = codeOf(error)
  if (code === TOO_OPEN) return tooOpen((error as { mode: number }).mode)
  if (code === 'NO_REGULAR_FILE') return 'is no file; name a regular file'
  const problem = problemOf(error, FILE_BYTES_MAX)
  return code === 'TOO_LARGE' ? problem : `${problem}; check the path and who may read it`
}

function textOf(bytes: Buffer): Read {
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
