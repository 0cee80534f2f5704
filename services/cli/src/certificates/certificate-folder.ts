// A folder of certificates and the authority that signs them: nothing in it is overwritten but by a renewal, and
// private keys are read by their owner alone.
import { chmod, chown, mkdir, readdir, readFile, rename, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import {
  belongTogether,
  describeCertificate,
  isSignedBy,
  makeAuthority,
  makeCertificate,
} from '@baton/embedded'
import type { Certified } from '@baton/embedded'
import { permanent, syncFolder, writeThrough } from '@baton/runtime'
import type { BatonError } from '@baton/runtime'
import { authorityFile, certificateFiles } from './certificate-files.ts'
import type { CertificateFiles, CertificateFolder } from './certificate-files.ts'

export interface KeptCertificate extends CertificateFiles {
  readonly name: string
  readonly hosts: readonly string[]
  readonly from: Date
  readonly until: Date
}

/** Who is to be certified, and how it is reached. */
export interface Wanted {
  readonly name: string
  readonly hosts: readonly string[]
}

const DAY_MS = 86_400_000
const AUTHORITY_DAYS = 1_825
export const CERTIFICATE_DAYS = 90
const AUTHORITY_NAME = 'Baton certificate authority'
const PRIVATE = 0o600
const PUBLIC = 0o644

const authorityKeyFile = ({ authorityFolder }: CertificateFolder): string =>
  join(authorityFolder, 'ca.key')

/**
 * Makes a certificate for each, and the authority where there is none yet. Throws BATON_CERTIFICATE_PRESENT, with
 * nothing written, where one of them has a certificate already.
 */
export async function addCertificates(
  place: CertificateFolder,
  wanted: readonly Wanted[],
  days: number,
): Promise<readonly KeptCertificate[]> {
  const known = new Set((await listCertificates(place)).map(({ name }) => name))
  const present = wanted.filter(({ name }) => known.has(name)).map(({ name }) => name)
  if (present.length > 0) throw alreadyThere(place, present)
  const authority = (await readAuthority(place)) ?? (await newAuthority(place))
  const life = lifeUnder(authority, days)
  for (const { name, hosts } of wanted) {
    const made = await makeCertificate(authority, { name, hosts, days: life })
    await writeNew(certificateFiles(place, name), made)
  }
  const names = new Set(wanted.map(({ name }) => name))
  return (await listCertificates(place)).filter(({ name }) => names.has(name))
}

/**
 * Gives each of these a new key and certificate for the same hosts. Processes that read the files follow: what they
 * find in between does not belong together, and they keep what they have.
 */
export async function renewCertificates(
  place: CertificateFolder,
  due: readonly KeptCertificate[],
  days: number,
): Promise<void> {
  const authority = await readAuthority(place)
  if (authority === null) throw authorityMissing(place)
  const life = lifeUnder(authority, days)
  for (const { name, hosts, certificateFile, keyFile } of due) {
    const made = await makeCertificate(authority, { name, hosts, days: life })
    try {
      await replaceAsItWas(keyFile, made.key)
      await replaceAsItWas(certificateFile, made.certificate)
    } catch (cause) {
      throw notWritten(certificateFile, cause)
    }
  }
}

/** In one step, and still readable by whoever could read it before. */
async function replaceAsItWas(path: string, text: string): Promise<void> {
  const { mode, uid, gid } = await stat(path)
  const draft = `${path}.draft`
  await writeThrough(draft, text, { flags: 'w', mode: PRIVATE })
  if (process.getuid?.() === 0) await chown(draft, uid, gid)
  await chmod(draft, mode)
  await rename(draft, path)
  await syncFolder(dirname(path))
}

/** Less than a third of its life is left. */
export const isDue = ({ from, until }: Pick<KeptCertificate, 'from' | 'until'>, nowMs: number) =>
  until.getTime() - nowMs < (until.getTime() - from.getTime()) / 3

/** Of these, which have to be made again: little of their life is left, or a renewal was cut off between key and certificate. */
export async function findDue(
  kept: readonly KeptCertificate[],
  nowMs: number,
): Promise<readonly KeptCertificate[]> {
  const due = await Promise.all(
    kept.map(async (one) => isDue(one, nowMs) || !(await hasItsKey(one))),
  )
  return kept.filter((_, index) => due[index])
}

/** True where the key is kept elsewhere: nothing says that it is another one. */
async function hasItsKey({ certificateFile, keyFile }: KeptCertificate): Promise<boolean> {
  const key = await readFile(keyFile, 'utf8').catch(nullWhereMissing)
  if (key === null) return true
  try {
    return belongTogether({ certificate: await readFile(certificateFile, 'utf8'), key })
  } catch {
    return false
  }
}

/** The certificates of the folder by their names; none where there is no such folder. */
export async function listCertificates(
  place: Pick<CertificateFolder, 'folder'>,
): Promise<readonly KeptCertificate[]> {
  const files = await readdir(place.folder).catch(emptyWhereMissing)
  const names = files
    .filter((file) => file.endsWith('.crt') && file !== 'ca.crt')
    .map((file) => file.slice(0, -'.crt'.length))
  return Promise.all(
    names.toSorted().map(async (name) => {
      const paths = certificateFiles(place, name)
      const { hosts, from, until } = await describeFile(paths.certificateFile)
      return { name, hosts, from, until, ...paths }
    }),
  )
}

/** From when until when the authority counts; null where there is none. */
export async function authorityLife(
  place: Pick<CertificateFolder, 'folder'>,
): Promise<{ readonly from: Date; readonly until: Date } | null> {
  const files = await readdir(place.folder).catch(emptyWhereMissing)
  return files.includes('ca.crt') ? describeFile(authorityFile(place)) : null
}

/** Null where the folder has neither a certificate nor a key of one. */
async function readAuthority(place: CertificateFolder): Promise<Certified | null> {
  const [certificate, key] = await Promise.all([
    readFile(authorityFile(place), 'utf8').catch(nullWhereMissing),
    readFile(authorityKeyFile(place), 'utf8').catch(nullWhereMissing),
  ])
  if (certificate === null && key === null) return null
  if (certificate === null || key === null) throw authorityMissing(place)
  const authority = { certificate, key }
  if (!isWhole(authority)) throw authorityBroken(place)
  return authority
}

function isWhole(authority: Certified): boolean {
  try {
    return belongTogether(authority) && isSignedBy(authority.certificate, authority.certificate)
  } catch {
    return false
  }
}

async function newAuthority(place: CertificateFolder): Promise<Certified> {
  const made = await makeAuthority({ name: AUTHORITY_NAME, days: AUTHORITY_DAYS })
  try {
    await mkdir(place.folder, { recursive: true, mode: 0o755 })
    await mkdir(place.authorityFolder, { recursive: true, mode: 0o700 })
  } catch (cause) {
    throw notWritten(place.folder, cause)
  }
  const files = { certificateFile: authorityFile(place), keyFile: authorityKeyFile(place) }
  await writeNew(files, made)
  return made
}

/** Never over another file, also where two commands do the same at once. */
async function writeNew(
  { certificateFile, keyFile }: Pick<KeptCertificate, 'certificateFile' | 'keyFile'>,
  made: Certified,
): Promise<void> {
  try {
    await writeFile(keyFile, made.key, { mode: PRIVATE, flag: 'wx' })
    await writeFile(certificateFile, made.certificate, { mode: PUBLIC, flag: 'wx' })
  } catch (cause) {
    throw notWritten(certificateFile, cause)
  }
}

/** In days: nothing outlives the authority that signed it. Throws BATON_AUTHORITY_ENDS where less than a day is left. */
function lifeUnder({ certificate }: Certified, days: number): number {
  const leftMs = describeCertificate(certificate).until.getTime() - Date.now()
  if (leftMs < DAY_MS) throw authorityEnds(leftMs)
  return Math.min(days, leftMs / DAY_MS)
}

async function describeFile(path: string) {
  try {
    return describeCertificate(await readFile(path, 'utf8'))
  } catch (cause) {
    throw permanent('BATON_CERTIFICATE_UNREADABLE', `${path} is no certificate that can be read`, {
      cause,
      fix: 'Put the file back, or move it away and make another with `certs new`.',
    })
  }
}

function emptyWhereMissing(error: unknown): string[] {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
  throw error
}

function nullWhereMissing(error: unknown): null {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
  throw error
}

const notWritten = (path: string, cause: unknown): BatonError =>
  permanent('BATON_FILE_NOT_WRITTEN', `${path} or its key cannot be written`, {
    cause,
    fix: 'Give yourself the right to write in that folder. A file of that name that belongs to nothing is moved away first.',
  })

const alreadyThere = ({ folder }: CertificateFolder, names: readonly string[]): BatonError =>
  permanent(
    'BATON_CERTIFICATE_PRESENT',
    `${folder} has a certificate for ${names.join(', ')} already`,
    {
      fix: 'Nothing was written. `certs renew` gives it a new one for the same hosts; for other hosts move its files away first, or name another folder with --dir.',
    },
  )

const authorityMissing = (place: CertificateFolder): BatonError =>
  permanent(
    'BATON_AUTHORITY_MISSING',
    `the authority needs both ${authorityFile(place)} and ${authorityKeyFile(place)}`,
    {
      fix: 'Bring back the file that is kept elsewhere, or name where the key is with --authority.',
    },
  )

const authorityBroken = (place: CertificateFolder): BatonError =>
  permanent(
    'BATON_AUTHORITY_MISSING',
    `${authorityKeyFile(place)} is not the key of ${authorityFile(place)}`,
    { fix: 'Name where its key is with --authority, or begin with an authority in another --dir.' },
  )

const authorityEnds = (leftMs: number): BatonError =>
  permanent(
    'BATON_AUTHORITY_ENDS',
    leftMs < 0 ? 'the authority has ended' : 'the authority ends within a day',
    {
      fix: 'Make another one with `certs new --dir`, give every process both authorities in one file, then move the certificates.',
    },
  )
