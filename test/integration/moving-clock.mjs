// Loaded before a service: its clock is as many milliseconds ahead as a file says at that moment.
import { readFileSync } from 'node:fs'

const RealDate = Date
const now = RealDate.now

function ahead() {
  try {
    return Number(readFileSync(process.env.BATON_TEST_CLOCK_FILE, 'utf8'))
  } catch {
    return 0
  }
}

globalThis.Date = class extends RealDate {
  constructor(...given) {
    super(...(given.length === 0 ? [now() + ahead()] : given))
  }
  static now() {
    return now() + ahead()
  }
}
