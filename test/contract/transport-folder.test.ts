// The example of a transport of one's own keeps the whole contract.
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createFolderTransport } from '@baton/own-transport'
import { describeTransport } from './transport-contract.ts'

describeTransport('folder', {
  canLose: false,
  open: async () => {
    const folder = mkdtempSync(join(tmpdir(), 'baton-folder-queue-'))
    return { transport: createFolderTransport(folder) }
  },
})
