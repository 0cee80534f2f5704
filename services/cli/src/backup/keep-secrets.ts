// The secrets of an instance, kept apart from its backups: with both, everything can be read; with one of them, nothing.
import { createCipheriv, createDecipheriv, randomBytes, scryptSync } from 'node:crypto'
import { mkdir, readdir, readFile, stat } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { permanent } from '@baton/runtime'
import type { Context } from '../context.ts'
import { writePrivate } from '../installation/settings-file.ts'
import { writeDurably } from './backup-folder.ts'

/** By path below the home; whole files, in base64. */
type Secrets = Readonly<Record<string, string>>

interface Sealed {
  readonly format: 'baton-secrets/1'
  readonly salt: string
  readonly nonce: string
  readonly tag: string
  readonly sealed: string
}

interface Open {
  readonly format: 'baton-secrets/1'
  readonly files: Secrets
}

const FORMAT = 'baton-secrets/1'
/** Memory and time that whoever tries passphrases needs for each: 64 MiB. */
const SCRYPT = { N: 65_536, r: 8, p: 1, maxmem: 134_217_728 }
const FOLDERS = ['secrets', 'tls']

interface KeepOptions {
  readonly to: string
  readonly root: string
}

/**
 * Writes them to a file of its own; sealed where BATON_BACKUP_PASSPHRASE is given. Throws BATON_BACKUP_SECRETS_BESIDE for a place
 * beside the backups or the databases that is not sealed.
 */
export async function keepSecrets(
  { home, settings }: Pick<Context, 'home' | 'settings'>,
  { to, root }: KeepOptions,
): Promise<string> {
  const path = resolve(to)
  const passphrase = settings.BATON_BACKUP_PASSPHRASE
  if (passphrase === undefined && [root, resolve(home)].some((folder) => isWithin(folder, path)))
    throw beside(path)
  const files = await readSecretFiles(home)
  if (Object.keys(files).length === 0) throw none(home)
  const open: Open = { format: FORMAT, files }
  const content = passphrase === undefined ? open : seal(open, passphrase)
  // A new file in its place: one that is there may be for others to read.
  await writePrivate(path, `${JSON.stringify(content)}\n`)
  const how = passphrase === undefined ? 'in the clear' : 'sealed with the passphrase'
  return `${Object.keys(files).length} files in ${path}, ${how}`
}

/** Puts them back; a file that is there stays. Throws BATON_BACKUP_SECRETS_UNREADABLE. */
export async function putBackSecrets(
  { home, settings }: Pick<Context, 'home' | 'settings'>,
  from: string,
): Promise<readonly string[]> {
  const files = await readKept(from, settings.BATON_BACKUP_PASSPHRASE)
  const written: string[] = []
  for (const [name, content] of Object.entries(files)) {
    const path = join(home, name)
    if (!isWithin(home, path)) throw unreadable(from, undefined)
    if ((await stat(path).catch(() => null)) !== null) continue
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    await writeDurably(path, Buffer.from(content, 'base64'))
    written.push(name)
  }
  return written
}

async function readKept(from: string, passphrase: string | undefined): Promise<Secrets> {
  try {
    const read = JSON.parse(await readFile(from, 'utf8')) as Open | Sealed
    if ('files' in read) return read.files
    if (passphrase === undefined) throw sealedFile(from)
    return unseal(read, passphrase).files
  } catch (cause) {
    if ((cause as { code?: unknown }).code === 'BATON_BACKUP_SECRETS_UNREADABLE') throw cause
    throw unreadable(from, cause)
  }
}

async function readSecretFiles(home: string): Promise<Secrets> {
  const files: Record<string, string> = {}
  for (const folder of FOLDERS) {
    const entries = await readdir(join(home, folder), {
      recursive: true,
      withFileTypes: true,
    }).catch(() => [])
    for (const entry of entries.filter((one) => one.isFile())) {
      const path = join(entry.parentPath, entry.name)
      files[relative(home, path)] = (await readFile(path)).toString('base64')
    }
  }
  return files
}

function seal(open: Open, passphrase: string): Sealed {
  const [salt, nonce] = [randomBytes(16), randomBytes(12)]
  const cipher = createCipheriv('aes-256-gcm', scryptSync(passphrase, salt, 32, SCRYPT), nonce)
  const sealed = Buffer.concat([cipher.update(JSON.stringify(open)), cipher.final()])
  return {
    format: FORMAT,
    salt: salt.toString('base64'),
    nonce: nonce.toString('base64'),
    tag: cipher.getAuthTag().toString('base64'),
    sealed: sealed.toString('base64'),
  }
}

function unseal({ salt, nonce, tag, sealed }: Sealed, passphrase: string): Open {
  const [saltBytes, nonceBytes, tagBytes, bytes] = [salt, nonce, tag, sealed].map((part) =>
    Buffer.from(part, 'base64'),
  ) as [Buffer, Buffer, Buffer, Buffer]
  const key = scryptSync(passphrase, saltBytes, 32, SCRYPT)
  const decipher = createDecipheriv('aes-256-gcm', key, nonceBytes, { authTagLength: 16 })
  decipher.setAuthTag(tagBytes)
  return JSON.parse(Buffer.concat([decipher.update(bytes), decipher.final()]).toString()) as Open
}

function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return way !== '' && !way.startsWith('..')
}

const beside = (path: string) =>
  permanent(
    'BATON_BACKUP_SECRETS_BESIDE',
    `${path} is beside the backups or the databases, which the secrets open`,
    {
      fix: 'Name a place elsewhere, best on another machine; or give BATON_BACKUP_PASSPHRASE, with which they are sealed.',
    },
  )

const none = (home: string) =>
  permanent('BATON_INSTANCE_MISSING', `there are no secrets in ${home}`, {
    fix: 'On servers of your own they are where you keep them: keep a copy of the settings folders of every process there, apart from the backups.',
  })

const unreadable = (from: string, cause: unknown) =>
  permanent('BATON_BACKUP_SECRETS_UNREADABLE', `the secrets in ${from} cannot be read`, {
    cause,
    fix: 'Name the file that --secrets-to wrote, with the passphrase of then.',
  })

const sealedFile = (from: string) =>
  permanent('BATON_BACKUP_SECRETS_UNREADABLE', `the secrets in ${from} are sealed`, {
    fix: 'Give the passphrase of then as BATON_BACKUP_PASSPHRASE.',
  })
