export { actorOf, personOf } from '@remit/core'
