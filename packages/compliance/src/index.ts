import { defineModule } from '@remit/core'
import { migrations } from './schema.ts'

export default defineModule({
  name: 'compliance',
  migrations,
  setup: () => ({ routes: [] }),
})
