### 分享的结果。

shared-title = 分享此结果
shared-offer = 分享此结果
shared-would-be-kept = 只会保存以下内容：记录、所在位置和带标记的行。看起来像名称、地址、私人路径或机密的内容已被替换，但可能有遗漏。分享前请先阅读：任何拥有链接的人都能看到。
shared-was-changed = 其中仍有可能透露个人或机器的内容，现已替换。尚未保存任何内容，请再次阅读。
shared-keep-for = 保存时间
shared-make = 生成链接
shared-as-kept = 保存的原始形式
shared-shared = 分享的结果
shared-made = 结果已分享
shared-link = 结果链接
shared-copy = 复制
shared-delete-link = 删除此结果的链接
shared-delete-means = 请保存此链接，之后无法再次获取。拥有它的人都能删除此结果。
shared-not-confirmed = 未经此服务器确认
shared-unconfirmed = 未经此服务器确认：分享者列出的记录，此服务器未在这些行中找到。若有内容被替换，或有行被截断或省略，记录仍可能存在。
shared-unnamed = 此服务器在这些行中找到了分享者未列出的记录。
shared-on-lines = 行
shared-said = 分享者说：
shared-days = { $count } 天
shared-shared-means = 此结果于 { $made } 分享，{ $until } 到期。其中看起来像名称、地址、私人路径或机密的内容已被替换。记录按当前内容显示。
shared-kept-until = 此结果在 { $until } 之前可以查看。
