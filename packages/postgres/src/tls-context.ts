// What a client trusts and shows, from files: whatever stands there when a connection is made, without a restart.
import { createSecureContext } from 'node:tls'
import type { SecureContext } from 'node:tls'
import { permanent, readRegularFileNow } from '@baton/runtime'

/** PEM files. Without an authority those count that everybody trusts; certificate and key are there both or neither. */
export interface TlsFiles {
  readonly caFile?: string | undefined
  readonly certFile?: string | undefined
  readonly keyFile?: string | undefined
}

/**
 * Answers a function that gives the context of what stands in the files now. While they cannot be read or do not belong
 * together, as in the middle of a renewal, it gives the last one that was whole. Throws BATON_TLS_INVALID where they
 * are not whole to begin with.
 */
export function contextOf(files: TlsFiles): () => SecureContext {
  let pems = readAll(files)
  let context = contextFrom(pems, files)
  return () => {
    try {
      const now = readAll(files)
      if (now.join() !== pems.join()) [context, pems] = [contextFrom(now, files), now]
    } catch {
      // The last whole one counts.
    }
    return context
  }
}

type Pems = readonly [ca: string | undefined, cert: string | undefined, key: string | undefined]

function readAll({ caFile, certFile, keyFile }: TlsFiles): Pems {
  return [read(caFile), read(certFile), read(keyFile)]
}

function read(path: string | undefined): string | undefined {
  if (path === undefined) return undefined
  try {
    return readRegularFileNow(path).toString()
  } catch (cause) {
    throw invalid(`${path} cannot be read`, cause)
  }
}

function contextFrom([ca, cert, key]: Pems, { certFile, keyFile }: TlsFiles): SecureContext {
  if ((cert === undefined) !== (key === undefined))
    throw invalid('a certificate was named without its key, or a key without its certificate')
  try {
    return createSecureContext({ ca, cert, key, minVersion: 'TLSv1.2' })
  } catch (cause) {
    const pair =
      certFile === undefined ? '' : `, or ${certFile} and ${keyFile} do not belong together`
    throw invalid(`a file is not PEM${pair}`, cause)
  }
}

const invalid = (what: string, cause?: unknown) =>
  permanent('BATON_TLS_INVALID', `a database URL names no whole set of files: ${what}`, {
    cause,
    fix: 'Name readable PEM files that belong together in BATON_TLS_CA_FILE, BATON_TLS_CERT_FILE and BATON_TLS_KEY_FILE, or in sslrootcert, sslcert and sslkey of a database URL.',
  })
