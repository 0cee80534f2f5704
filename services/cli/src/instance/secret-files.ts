// Files of secrets: written whole or not at all, made once, readable by their owner only.
import { randomUUID } from 'node:crypto'
import { chmod, link, mkdir, readFile, unlink, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { permanent } from '@baton/runtime'

/** What the file holds, or null where there is none yet. Throws BATON_SECRETS_UNREADABLE. */
export async function readSecretFile<Content>(path: string): Promise<Content | null> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw secretsUnreadable(path, error)
  }
  try {
    return JSON.parse(text) as Content
  } catch (cause) {
    throw secretsUnreadable(path, cause)
  }
}

/**
 * Stores them unless the file is there already: of two commands that start at once, one makes the
 * secrets. Answers whether it was this one.
 */
export async function storeSecretsOnce(path: string, secrets: object): Promise<boolean> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  await chmod(dirname(path), 0o700)
  const draft = `${path}.${randomUUID()}.draft`
  await writeFile(draft, `${JSON.stringify(secrets, null, 2)}\n`, { mode: 0o600 })
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

export const secretsUnreadable = (path: string, cause?: unknown) =>
  permanent('BATON_SECRETS_UNREADABLE', `the secrets in ${path} cannot be read`, {
    cause,
    fix: 'Make the file readable for you, or restore it: without it the stored data cannot be opened.',
  })
