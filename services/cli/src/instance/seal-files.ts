// The files of the sealer and the witness of an instance. Nothing is loaded with it.
import { join } from 'node:path'

/** Where an instance keeps what its sealer signed, its anchor and its witness. */
export const sealFiles = (home: string) => {
  const folder = join(home, 'seals')
  return {
    folder,
    state: join(folder, 'sealer.json'),
    anchor: join(folder, 'anchor.jsonl'),
    policy: join(folder, 'policy'),
    witnessState: join(folder, 'witness.json'),
  }
}
