// Reads a text that a person names, and says exactly why when it cannot be used.
import { open } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { permanent } from '@baton/runtime'

/**
 * The text of the file, or of standard input for `-`. Throws BATON_FILE_NOT_FOUND,
 * BATON_FILE_NOT_ALLOWED, or BATON_USAGE when it is a folder, empty, not UTF-8 text or larger than `bytesMax`.
 */
export async function readInput(path: string, bytesMax: number): Promise<string> {
  const name = path === '-' ? 'standard input' : path
  const bytes =
    path === '-' ? await readStream(process.stdin, bytesMax) : await readFile(path, bytesMax)
  if (bytes.length > bytesMax) {
    throw unusable(
      `${name} is larger than ${bytesMax.toLocaleString('en-US')} bytes`,
      'Give a shorter text, or parts of it one by one.',
    )
  }
  const text = decode(bytes)
  if (text === undefined)
    throw unusable(`${name} is not text in UTF-8`, 'Convert it to plain text first.')
  if (text.trim() === '') throw unusable(`${name} is empty`, 'Give a file with some text in it.')
  return text
}

const unusable = (problem: string, fix: string) => permanent('BATON_USAGE', problem, { fix })

async function readFile(path: string, bytesMax: number): Promise<Buffer> {
  const file = await open(path).catch((error: unknown) => {
    throw cannotOpen(path, error)
  })
  try {
    if (!(await file.stat()).isFile()) throw unusable(`${path} is not a file`, 'Name a text file.')
    return await readStart(file, bytesMax + 1)
  } finally {
    await file.close()
  }
}

async function readStart(file: FileHandle, bytes: number): Promise<Buffer> {
  const buffer = Buffer.alloc(bytes)
  let filled = 0
  while (filled < bytes) {
    const { bytesRead } = await file.read(buffer, filled, bytes - filled)
    if (bytesRead === 0) break
    filled += bytesRead
  }
  return buffer.subarray(0, filled)
}

async function readStream(
  stream: AsyncIterable<Buffer | string>,
  bytesMax: number,
): Promise<Buffer> {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of stream) {
    const buffer = Buffer.from(part)
    parts.push(buffer)
    bytes += buffer.length
    if (bytes > bytesMax) break
  }
  return Buffer.concat(parts)
}

/** Undefined for anything with a NUL or that is not UTF-8. */
function decode(bytes: Buffer): string | undefined {
  if (bytes.includes(0)) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

function cannotOpen(path: string, error: unknown) {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'ENOENT' || code === 'ENOTDIR') {
    return permanent('BATON_FILE_NOT_FOUND', `there is no file ${path}`, {
      fix: 'Check the path; it is meant from the folder you are in.',
    })
  }
  if (code === 'EACCES' || code === 'EPERM') {
    return permanent('BATON_FILE_NOT_ALLOWED', `${path} may not be read`, {
      fix: 'Give yourself the right to read it.',
    })
  }
  return permanent('BATON_USAGE', `${path} cannot be opened (${code ?? 'unknown'})`, {
    cause: error,
    fix: 'Name a text file.',
  })
}
