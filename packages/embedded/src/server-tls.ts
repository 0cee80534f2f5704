// What an embedded server needs to speak TLS, and to ask for the certificates of its clients.
import { permanent } from '@baton/runtime'

/** Files in PEM. Who connects shows a certificate of the same authority. */
export interface ServerTls {
  readonly certificateFile: string
  readonly keyFile: string
  readonly authorityFile: string
}

type Spoken = 'plain text' | 'TLS'

/** Another living command has started it the other way. */
export const otherSpoken = (title: string, wanted: Spoken) =>
  permanent(
    'BATON_INSTANCE_BUSY',
    `another command uses the ${title} of this instance, ${wanted === 'TLS' ? 'without' : 'with'} TLS`,
    { fix: 'Stop that command first, then run this one again.' },
  )
