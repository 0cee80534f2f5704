// Development secrets live in files that only their owner can read, and are made on first use.
import { randomBytes } from 'node:crypto'
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'

const SECRET_BYTES = 24

/** The secret in the file at `path` (mode 0600), or null when there is none. */
export async function readSecret(path: string): Promise<string | null> {
  try {
    return (await readFile(path, 'utf8')).trim() || null
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

/** Makes a new random secret (URL-safe text) and stores it at `path`. */
export async function writeNewSecret(path: string): Promise<string> {
  const secret = randomBytes(SECRET_BYTES).toString('base64url')
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  await chmod(dirname(path), 0o700)
  await writeFile(path, `${secret}\n`, { mode: 0o600 })
  return secret
}
