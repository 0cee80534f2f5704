// An instance on TLS: an authority and certificates of its own for every process and server, made once, renewed in time
// whenever something of it starts.
import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { withLock } from '@baton/embedded'
import type { ServerTls } from '@baton/embedded'
import {
  addCertificates,
  authorityFile,
  CERTIFICATE_DAYS,
  certificateFiles,
  findDue,
  listCertificates,
  renewCertificates,
} from '../certificates/certificate-folder.ts'
import type { CertificateFolder } from '../certificates/certificate-folder.ts'
import type { CliSettings } from '../context.ts'

const NAMES = [
  'gateway',
  'relay',
  'receiver',
  'auditor',
  'sealer',
  'archiver',
  'witness',
  'postgres',
  'redis',
  'operator',
] as const
const HOSTS = ['localhost', '127.0.0.1', '::1']
const LOCK_WAIT_MS = 60_000

const placeOf = (home: string): CertificateFolder => {
  const folder = join(home, 'tls')
  return { folder, authorityFolder: join(folder, 'authority') }
}

/** Whether everything of this instance speaks TLS: its certificates say so. */
export const isOnTls = (home: string): boolean => existsSync(authorityFile(placeOf(home)))

/** One at a time makes or renews certificates of the instance. */
export const withTlsLock = <Answer>(home: string, work: () => Promise<Answer>): Promise<Answer> =>
  withLock(join(home, 'tls.lock'), { waitMs: LOCK_WAIT_MS }, work)

/** Makes what is missing and renews what is due, or was cut off while it was renewed. */
export async function prepareInstanceTls(home: string): Promise<void> {
  const place = placeOf(home)
  await withTlsLock(home, async () => {
    const kept = await listCertificates(place)
    const missing = NAMES.filter((name) => !kept.some((one) => one.name === name))
    const wanted = missing.map((name) => ({ name, hosts: HOSTS }))
    if (wanted.length > 0) await addCertificates(place, wanted, CERTIFICATE_DAYS)
    const due = await findDue(kept, Date.now())
    if (due.length > 0) await renewCertificates(place, due, CERTIFICATE_DAYS)
  })
}

/** From the next start on everything is plain text on this machine again. */
export const forgetInstanceTls = (home: string): Promise<void> =>
  rm(placeOf(home).folder, { recursive: true, force: true })

/** What a server of the instance needs; undefined where it is not on TLS. Renews what is due first. */
export async function serverTls(
  home: string,
  name: 'postgres' | 'redis',
): Promise<ServerTls | undefined> {
  if (!isOnTls(home)) return undefined
  await prepareInstanceTls(home)
  const place = placeOf(home)
  return { ...certificateFiles(place, name), authorityFile: authorityFile(place) }
}

/** The settings by which a process of the instance speaks TLS; none where it is not on TLS. */
export function tlsEnvironment(home: string, name: string): Readonly<Record<string, string>> {
  if (!isOnTls(home)) return {}
  const place = placeOf(home)
  const { certificateFile, keyFile } = certificateFiles(place, name)
  return {
    BATON_TLS_CERT_FILE: certificateFile,
    BATON_TLS_KEY_FILE: keyFile,
    BATON_TLS_CA_FILE: authorityFile(place),
  }
}

/** What a command on this instance trusts and shows: what it was given, or else what the instance has for its operator. */
export function asOperator(settings: CliSettings, home: string): CliSettings {
  const { BATON_TLS_CA_FILE: authority, BATON_TLS_CERT_FILE: certificate } = settings
  const isGiven = (authority ?? certificate) !== undefined
  const isOwn = authority === authorityFile(placeOf(home))
  if (isGiven && !isOwn) return settings
  // Those of the instance count as long as it has them.
  return { ...settings, ...NO_FILES, ...tlsEnvironment(home, 'operator') }
}

const NO_FILES = {
  BATON_TLS_CA_FILE: undefined,
  BATON_TLS_CERT_FILE: undefined,
  BATON_TLS_KEY_FILE: undefined,
}

/** Of one of the instance's own services. */
export const urlOf = (home: string, port: number): string =>
  `${isOnTls(home) ? 'https' : 'http'}://127.0.0.1:${port}`

/** A database URL for a service, which has files of its own. */
export function withoutOperator(url: string, home: string): string {
  const parsed = URL.parse(url)
  if (parsed === null || !isOnTls(home)) return url
  for (const name of ['sslrootcert', 'sslcert', 'sslkey']) {
    if (parsed.searchParams.get(name)?.startsWith(placeOf(home).folder) === true)
      parsed.searchParams.delete(name)
  }
  return parsed.href
}
