// Certificates for tests that shake hands in earnest: made on the spot, in a folder of their own, so that no key stands in the repository.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeAuthority, makeCertificate } from '@baton/embedded'
import type { Certified } from '@baton/embedded'

interface Wanted {
  /** `127.0.0.1` and `localhost` by default. */
  readonly hosts?: readonly string[]
  /** Now by default. */
  readonly from?: Date
  readonly days?: number
}

/** The settings of a process, all three of which name files. */
export interface TestTlsFiles {
  readonly BATON_TLS_CERT_FILE: string
  readonly BATON_TLS_KEY_FILE: string
  readonly BATON_TLS_CA_FILE: string
}

export interface TestAuthority {
  /** As PEM. */
  readonly certificate: string
  /** A certificate of this authority, not written anywhere. */
  certify(name: string, wanted?: Wanted): Promise<Certified>
  /** The files of `name`, with a new certificate; those that it had are replaced. Others' certificates are vouched for by `by`, this authority by default. */
  files(name: string, wanted?: Wanted & { readonly by?: string }): Promise<TestTlsFiles>
  [Symbol.asyncDispose](): Promise<void>
}

export async function createTestAuthority({
  days: authorityDays = 365,
} = {}): Promise<TestAuthority> {
  const authority = await makeAuthority({ name: 'test authority', days: authorityDays })
  const folder = await mkdtemp(join(tmpdir(), 'baton-test-tls-'))
  const { certificate } = authority

  const certify = (name: string, { hosts = ['127.0.0.1', 'localhost'], ...life }: Wanted = {}) =>
    makeCertificate(authority, { name, hosts, days: 30, ...life })

  return {
    certificate,
    certify,
    async files(name, { by = certificate, ...wanted } = {}) {
      const own = await certify(name, wanted)
      const files = {
        BATON_TLS_CERT_FILE: join(folder, `${name}.crt`),
        BATON_TLS_KEY_FILE: join(folder, `${name}.key`),
        BATON_TLS_CA_FILE: join(folder, `${name}-ca.crt`),
      }
      await writeFile(files.BATON_TLS_CERT_FILE, own.certificate)
      await writeFile(files.BATON_TLS_KEY_FILE, own.key, { mode: 0o600 })
      await writeFile(files.BATON_TLS_CA_FILE, by)
      return files
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  }
}
