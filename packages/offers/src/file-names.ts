// The files a handoff may stand in: named by its id where every file system takes that name, by a digest otherwise.
import { hash } from 'node:crypto'

const NAME_BYTES_MAX = 200

/** Drafts, the lock, and hidden files of others are no handoffs. */
export const isHandoffFile = (name: string): boolean =>
  name.endsWith('.json') && !name.startsWith('.')

/**
 * The names within its folder, best first; never anything outside it, whatever the id. The second one serves where the
 * first is another handoff's, as `A.json` is the same as `a.json` on some file systems.
 */
export function fileNamesOf(taskId: string): readonly string[] {
  const digestName = `id-${hash('sha256', taskId, 'hex')}.json`
  return isName(taskId) ? [`${taskId}.json`, digestName] : [digestName]
}

const isName = (taskId: string): boolean =>
  !/^\.|[/\\:\u0000-\u001f\u007f]/.test(taskId) &&
  taskId.normalize('NFC') === taskId &&
  Buffer.byteLength(taskId) <= NAME_BYTES_MAX
