// Secrets live in files that only their owner can read: made once, on first use, written whole or not at all.
import { randomBytes, randomUUID } from 'node:crypto'
import { chmod, link, mkdir, readFile, unlink, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { permanent } from '@baton/runtime'

const SECRET_BYTES = 24

/** A new random secret, as text that needs no escaping in a URL. */
export const newSecret = (): string => randomBytes(SECRET_BYTES).toString('base64url')

/** The secret in the file at `path` (mode 0600), or null when there is none. */
export async function readSecret(path: string): Promise<string | null> {
  return (await readIfThere(path))?.trim() || null
}

/** Makes a new random secret and stores it at `path`. */
export async function writeNewSecret(path: string): Promise<string> {
  const secret = newSecret()
  await makeFolderOf(path)
  await writeFile(path, `${secret}\n`, { mode: 0o600 })
  return secret
}

/** What the JSON file at `path` holds, or null where there is none yet. Throws BATON_SECRETS_UNREADABLE. */
export async function readSecretFile<Content>(path: string): Promise<Content | null> {
  try {
    const text = await readIfThere(path)
    return text === null ? null : (JSON.parse(text) as Content)
  } catch (cause) {
    throw secretsUnreadable(path, cause)
  }
}

/**
 * What the JSON file holds; where there is none yet, what `make` answers is stored first. Of two
 * commands that start at once, one makes the secrets: `made` says whether it was this one. Throws
 * BATON_SECRETS_UNREADABLE.
 */
export async function ensureSecretFile<Content extends object>(
  path: string,
  make: () => Content,
): Promise<{ readonly content: Content; readonly made: boolean }> {
  const known = await readSecretFile<Content>(path)
  if (known !== null) return { content: known, made: false }
  const made = await storeOnce(path, make())
  const content = await readSecretFile<Content>(path)
  if (content === null) throw secretsUnreadable(path)
  return { content, made }
}

async function storeOnce(path: string, content: object): Promise<boolean> {
  await makeFolderOf(path)
  const draft = `${path}.${randomUUID()}.draft`
  await writeFile(draft, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 })
  try {
    // A link never replaces a file.
    await link(draft, path)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  } finally {
    await unlink(draft)
  }
}

async function makeFolderOf(path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  await chmod(dirname(path), 0o700)
}

async function readIfThere(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

const secretsUnreadable = (path: string, cause?: unknown) =>
  permanent('BATON_SECRETS_UNREADABLE', `the secrets in ${path} cannot be read`, {
    cause,
    fix: 'Make the file readable for you, or restore it: without it the stored data cannot be opened.',
  })
