// Whether an instance is on TLS, and which files its processes and commands then use.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { authorityFile, certificateFiles } from '../certificates/certificate-files.ts'
import type { CertificateFolder } from '../certificates/certificate-files.ts'
import type { CliSettings } from '../context.ts'

export const placeOf = (home: string): CertificateFolder => {
  const folder = join(home, 'tls')
  return { folder, authorityFolder: join(folder, 'authority') }
}

/** Whether everything of this instance speaks TLS: its certificates say so. */
export const isOnTls = (home: string): boolean => existsSync(authorityFile(placeOf(home)))

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
