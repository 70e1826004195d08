export * from './api.ts'
export * from './databases.ts'
export * from './postgres-server.ts'
export * from './remit.ts'
