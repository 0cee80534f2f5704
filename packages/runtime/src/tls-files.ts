// What stands in the files of a process's certificate, key and authorities, checked before anything relies on it.
import { createHash, createPrivateKey, X509Certificate } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { createSecureContext } from 'node:tls'
import { codeOf, permanent } from './errors.ts'
import type { BatonError } from './errors.ts'
import { readRegularFile, readRegularFileNow } from './regular-file.ts'

/** As PEM. Nothing of it changes: new files are new material. */
export interface TlsMaterial {
  /** The own certificate, and those between it and an authority. */
  readonly certificate: string | undefined
  readonly key: string | undefined
  /** Who vouches for the other side. */
  readonly authorities: readonly string[] | undefined
  /** When the own certificate ends. */
  readonly endsAt: Date | undefined
  /** When the first of the authorities ends, and of those between the own certificate and its authority. */
  readonly authorityEndsAt: Date | undefined
}

/** The settings, and what their files hold; undefined where no file is named. */
export interface TlsTexts {
  readonly BATON_TLS_CERT_FILE: string | undefined
  readonly BATON_TLS_KEY_FILE: string | undefined
  readonly BATON_TLS_CA_FILE: string | undefined
}

const FILES = ['BATON_TLS_CERT_FILE', 'BATON_TLS_KEY_FILE', 'BATON_TLS_CA_FILE'] as const

export const namesFiles = (paths: TlsTexts): boolean =>
  FILES.some((setting) => paths[setting] !== undefined)

/** Throws the permanent BATON_TLS_INVALID where a file cannot be read. */
export async function readTexts(paths: TlsTexts): Promise<TlsTexts> {
  const read = await Promise.all(FILES.map((setting) => readText(setting, paths[setting])))
  return textsOf(read)
}

/** The same before anything else runs. */
export const readTextsNow = (paths: TlsTexts): TlsTexts =>
  textsOf(FILES.map((setting) => readTextNow(setting, paths[setting])))

const textsOf = ([certificate, key, authorities]: readonly (string | undefined)[]): TlsTexts => ({
  BATON_TLS_CERT_FILE: certificate,
  BATON_TLS_KEY_FILE: key,
  BATON_TLS_CA_FILE: authorities,
})

async function readText(setting: string, path: string | undefined): Promise<string | undefined> {
  if (path === undefined) return undefined
  try {
    return (await readRegularFile(path)).toString()
  } catch (error) {
    throw unreadable(setting, path, error)
  }
}

function readTextNow(setting: string, path: string | undefined): string | undefined {
  if (path === undefined) return undefined
  try {
    return readRegularFileNow(path).toString()
  } catch (error) {
    throw unreadable(setting, path, error)
  }
}

/** Throws the permanent BATON_TLS_INVALID, which names setting and file and never what stands in it. */
export function readMaterial(paths: TlsTexts, texts: TlsTexts, now: Date): TlsMaterial {
  const {
    BATON_TLS_CERT_FILE: certificate,
    BATON_TLS_KEY_FILE: key,
    BATON_TLS_CA_FILE: authorities,
  } = texts
  const whereIs = (setting: keyof TlsTexts) => `${setting} (${paths[setting]})`
  if ((certificate === undefined) !== (key === undefined)) {
    const [set, missing] =
      key === undefined
        ? ['BATON_TLS_CERT_FILE', 'BATON_TLS_KEY_FILE']
        : ['BATON_TLS_KEY_FILE', 'BATON_TLS_CERT_FILE']
    throw invalid(`${set} is set and ${missing} is not`, 'Set both of them, or neither.')
  }
  const [own, ...between] =
    certificate === undefined || key === undefined
      ? []
      : checkOwn({ certificate, key, now, whereIs })
  const believed =
    authorities === undefined
      ? undefined
      : checkAuthorities(authorities, now, whereIs('BATON_TLS_CA_FILE'))
  return {
    certificate,
    key,
    endsAt: own?.validToDate,
    authorities: believed?.map((one) => one.toString()),
    authorityEndsAt: firstEndOf([...between, ...(believed ?? [])]),
  }
}

/** Undefined of none. */
export const firstEndOf = (certificates: readonly X509Certificate[]): Date | undefined =>
  certificates
    .map(({ validToDate }) => validToDate)
    .toSorted((one, other) => one.getTime() - other.getTime())[0]

/** All certificates of a file, the own one first; none where no file is named. Throws BATON_TLS_INVALID, which says `named` and the path. */
export async function readCertificateFile(
  named: string,
  path: string | undefined,
): Promise<readonly X509Certificate[]> {
  const text = await readText(named, path)
  return text === undefined ? [] : readCertificates(text, `${named} (${path})`)
}

interface Own {
  readonly certificate: string
  readonly key: string
  readonly now: Date
  readonly whereIs: (setting: keyof TlsTexts) => string
}

/** Answers it, and those behind it in its file. */
function checkOwn({ certificate, key, now, whereIs }: Own): readonly X509Certificate[] {
  const all = readCertificates(certificate, whereIs('BATON_TLS_CERT_FILE'))
  const [own] = all
  const { validFromDate: from, validToDate: until } = own
  const place = whereIs('BATON_TLS_CERT_FILE')
  if (until <= now)
    throw invalid(
      `the certificate of ${place} has ended on ${until.toISOString()}`,
      'Put a new certificate and its key there; `baton certs renew` makes them.',
    )
  if (from > now)
    throw invalid(
      `the certificate of ${place} begins only on ${from.toISOString()}`,
      'Set the clock of this machine, or wait.',
    )
  if (!own.checkPrivateKey(readKey(key, whereIs('BATON_TLS_KEY_FILE'))))
    throw invalid(
      `the key of ${whereIs('BATON_TLS_KEY_FILE')} is not that of the certificate of ${place}`,
      'Name the two files that were made together; the own certificate stands first in its file.',
    )
  requireUsable(certificate, key, place)
  return all
}

/** As every server and every connection would use them: OpenSSL refuses more than their forms, such as keys that are too short. */
function requireUsable(cert: string, key: string, place: string): void {
  try {
    createSecureContext({ cert, key, ca: [] })
  } catch (error) {
    throw invalid(
      `the certificate of ${place}, or one behind it, cannot be used (${codeOf(error)})`,
      'Put a whole certificate there, and those between it and its authority, with keys that count as strong today.',
    )
  }
}

function checkAuthorities(text: string, now: Date, place: string): readonly X509Certificate[] {
  const all = readCertificates(text, place)
  if (all.every(({ validToDate }) => validToDate <= now))
    throw invalid(
      `every certificate of ${place} has ended`,
      'Put the certificate of the authority there that signs now.',
    )
  return all
}

function readKey(text: string, place: string): KeyObject {
  try {
    return createPrivateKey(text)
  } catch (error) {
    // The words of the library could tell what stands there; its code does not.
    throw invalid(
      `${place} holds no private key that can be read (${codeOf(error)})`,
      'Name a PEM file with the private key, without a passphrase.',
    )
  }
}

const BEGIN = '-----BEGIN CERTIFICATE-----'
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

function readCertificates(text: string, place: string): [X509Certificate, ...X509Certificate[]] {
  const whole = text.match(CERTIFICATE) ?? []
  if (whole.length > 0 && text.split(BEGIN).length - 1 > whole.length)
    throw invalid(
      `${place} holds a certificate without its end`,
      'Write the file as a whole, beside its place, and move it there.',
    )
  try {
    const [first, ...others] = whole
    if (first === undefined) throw new TypeError()
    return [new X509Certificate(first), ...others.map((one) => new X509Certificate(one))]
  } catch {
    throw invalid(
      `${place} holds no certificate that can be read`,
      'Name a PEM file with certificates.',
    )
  }
}

/** The same for the same texts alone. */
export function digestOf(texts: TlsTexts): string {
  const hash = createHash('sha256')
  for (const setting of FILES) {
    const text = texts[setting]
    hash.update(text === undefined ? '-' : `${text.length}:${text}`)
  }
  return hash.digest('hex')
}

const unreadable = (setting: string, path: string, error: unknown): BatonError =>
  invalid(
    `${setting} (${path}) cannot be read: ${codeOf(error)}`,
    'Name a file that this process may read, or take the setting away.',
  )

const invalid = (message: string, fix: string): BatonError =>
  permanent('BATON_TLS_INVALID', message, { fix })
