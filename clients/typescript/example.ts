// A whole agent: counts words until it is stopped. Run: node example.ts http://127.0.0.1:8420 bk_...
import { createBaton } from './baton.ts'

const [url = '', key = ''] = process.argv.slice(2)
const baton = createBaton({ url, key })

await baton.work(
  { type: 'word-count', version: '1.0.0', requires: ['text'] },
  async (execution) => {
    const { currentState } = execution.message as { currentState: { text: string } }
    const words = currentState.text.split(/\s+/).filter((word) => word !== '').length
    process.stdout.write(`${execution.handoffId} ${words}\n`)
    return { outcome: 'complete', result: { words }, costUSD: 0.0001 }
  },
)
