// An instance on TLS: an authority and certificates of its own for every process and server, made once, renewed in time
// whenever something of it starts.
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { withLock } from '@baton/embedded'
import type { ServerTls } from '@baton/embedded'
import { authorityFile, certificateFiles } from '../certificates/certificate-files.ts'
import {
  addCertificates,
  CERTIFICATE_DAYS,
  findDue,
  listCertificates,
  renewCertificates,
} from '../certificates/certificate-folder.ts'
import { isOnTls, placeOf } from './tls-files.ts'

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
