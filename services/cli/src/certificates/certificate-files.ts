// Where certificates, their keys and their authority stand in a folder.
import { join } from 'node:path'

export interface CertificateFolder {
  readonly folder: string
  /** Where the authority's private key is, which no process needs; it may be kept elsewhere between two uses. */
  readonly authorityFolder: string
}

export interface CertificateFiles {
  readonly certificateFile: string
  readonly keyFile: string
}

/** What every process takes for its authority. */
export const authorityFile = ({ folder }: Pick<CertificateFolder, 'folder'>): string =>
  join(folder, 'ca.crt')

export const certificateFiles = (
  { folder }: Pick<CertificateFolder, 'folder'>,
  name: string,
): CertificateFiles => ({
  certificateFile: join(folder, `${name}.crt`),
  keyFile: join(folder, `${name}.key`),
})
