// Certificates for machines that have no authority of their own: ECDSA P-256, for servers and clients alike.
import { createPrivateKey, createPublicKey, webcrypto, X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import type * as X509 from '@peculiar/x509'

/** A certificate and its private key, both as PEM. */
export interface Certified {
  readonly certificate: string
  readonly key: string
}

interface Subject {
  readonly name: string
  readonly days: number
  /** From when on it counts: now by default. */
  readonly from?: Date
}

export interface CertificateSubject extends Subject {
  /** The names and addresses under which its server is reached; at least one. */
  readonly hosts: readonly string[]
}

const KEY = { name: 'ECDSA', namedCurve: 'P-256' }
const SIGNING = { name: 'ECDSA', hash: 'SHA-256' }
const DAY_MS = 86_400_000
/** Machines whose clocks are a little behind take a new certificate as well. */
const CLOCK_BEHIND_MS = 300_000

/** An authority that signs certificates, and no authorities below it. */
export async function makeAuthority({ name, ...life }: Subject): Promise<Certified> {
  const x509 = await loadX509()
  const keys = await newKeys()
  const { keyCertSign, cRLSign } = x509.KeyUsageFlags
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: [{ CN: [name] }],
    ...lifeOf(life),
    keys,
    signingAlgorithm: SIGNING,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      // eslint-disable-next-line no-bitwise -- flags, as the library takes them
      new x509.KeyUsagesExtension(keyCertSign | cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  })
  return { certificate: pemOf(certificate), key: await keyPem(keys.privateKey) }
}

/** A certificate of this authority, with a new key. */
export async function makeCertificate(
  authority: Certified,
  { name, hosts, ...life }: CertificateSubject,
): Promise<Certified> {
  const x509 = await loadX509()
  const keys = await newKeys()
  const issuer = new x509.X509Certificate(authority.certificate)
  const { clientAuth, serverAuth } = x509.ExtendedKeyUsage
  const names = hosts.map((value): X509.JsonGeneralName => ({
    type: isIP(value) === 0 ? 'dns' : 'ip',
    value,
  }))
  const certificate = await x509.X509CertificateGenerator.create({
    subject: [{ CN: [name] }],
    issuer: issuer.subjectName,
    ...lifeOf(life),
    publicKey: keys.publicKey,
    signingKey: await signingKeyOf(authority),
    signingAlgorithm: SIGNING,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([serverAuth, clientAuth]),
      new x509.SubjectAlternativeNameExtension(names),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey),
    ],
  })
  return { certificate: pemOf(certificate), key: await keyPem(keys.privateKey) }
}

/** What a certificate says of itself. Throws where the text is none. */
export function describeCertificate(text: string) {
  const read = new X509Certificate(text)
  const names = read.subjectAltName?.split(', ') ?? []
  return {
    name: /^CN=(.*)$/m.exec(read.subject)?.[1] ?? '',
    hosts: names.map((one) => one.replace(/^(?:DNS|IP Address):/, '')),
    from: read.validFromDate,
    until: read.validToDate,
    isAuthority: read.ca,
  }
}

/** Whether the key is the certificate's own. */
export function belongTogether({ certificate, key }: Certified): boolean {
  const own = createPublicKey(createPrivateKey(key)).export({ format: 'der', type: 'spki' })
  return new X509Certificate(certificate).publicKey
    .export({ format: 'der', type: 'spki' })
    .equals(own)
}

/** Whether `authority` has signed this certificate. */
export const isSignedBy = (certificate: string, authority: string): boolean =>
  new X509Certificate(certificate).verify(new X509Certificate(authority).publicKey)

const lifeOf = ({ from = new Date(), days }: Omit<Subject, 'name'>) => ({
  notBefore: new Date(from.getTime() - CLOCK_BEHIND_MS),
  notAfter: new Date(from.getTime() + days * DAY_MS),
})

// Large, and of use to few commands; its parts find each other by metadata of classes, which it wants loaded first.
async function loadX509(): Promise<typeof X509> {
  await import('reflect-metadata')
  return import('@peculiar/x509')
}

const newKeys = () => webcrypto.subtle.generateKey(KEY, true, ['sign', 'verify'])

const signingKeyOf = ({ key }: Certified) =>
  webcrypto.subtle.importKey(
    'pkcs8',
    createPrivateKey(key).export({ format: 'der', type: 'pkcs8' }),
    KEY,
    false,
    ['sign'],
  )

const pemOf = (certificate: X509.X509Certificate): string => `${certificate.toString('pem')}\n`

async function keyPem(key: webcrypto.CryptoKey): Promise<string> {
  const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', key))
  return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
    .export({ format: 'pem', type: 'pkcs8' })
    .toString()
}
