//! Chinese in traditional characters as the simplified ones of the records.

use std::collections::HashMap;
use std::sync::LazyLock;

/// Traditional characters of the field's words and of questions, each before its simplified one. Words that differ in more
/// than characters (`記憶體`) stand among the synonyms, in simplified characters.
const PAIRS: &str = "\
    並并亂乱億亿倉仓備备傳传償偿優优儲储內内兩两冊册凍冻別别則则剛刚創创動动務务勝胜區区協协單单嗎吗問问啟启啓启嘗尝嘯啸\
    圖图執执場场塊块塢坞夠够夾夹奪夺學学實实審审寫写寬宽專专將将導导屬属島岛層层帶带幀帧幫帮幹干庫库廠厂廢废廣广張张強强\
    彈弹後后從从復复徹彻態态慣惯憶忆應应懸悬戶户擇择擴扩擋挡擔担據据損损換换掛挂採采掃扫揚扬搶抢擁拥攔拦敗败數数\
    斷断時时暫暂會会東东條条極极構构樓楼標标樣样機机檔档檢检欄栏權权歸归殘残毀毁氣气決决沒没測测準准溫温滿满滯滞潰溃\
    為为無无煩烦熱热燈灯營营獨独獲获現现環环產产異异當当發发監监盤盘確确碼码禮礼禁禁種种稱称積积窮穷競竞節节範范築筑簡简\
    簽签籤签紅红納纳級级細细終终組组結结絕绝統统經经維维網网緊紧線线緩缓編编練练縮缩總总績绩織织續续羅罗義义習习聯联聽听\
    脫脱腦脑臨临舊旧處处虛虚號号衝冲裝装補补裡里製制複复見见規规視视覺觉覽览觀观觸触計计訊讯訓训記记設设許许訪访診诊註注\
    評评詞词試试該该詳详認认誤误說说請请諾诺調调談谈謝谢證证識识議议護护讀读變变讓让負负貝贝財财責责費费資资賴赖贊赞軌轨\
    軟软較较載载輔辅輕轻輪轮輯辑輸输轉转辦办這这連连進进遊游運运過过達达違违遠远適适選选遷迁還还邊边邏逻鄰邻醫医釋释錄录\
    錯错鍵键鎖锁鏈链鏡镜鐘钟開开間间閒闲閉闭關关閱阅陣阵陸陆陽阳隊队階阶際际隨随險险隱隐隸隶隻只雙双雜杂離离難难電电靜静響响\
    頁页頂顶項项順顺預预領领頻频題题額额類类顆颗顯显願愿風风飛飞餘余駐驻驅驱驗验體体點点黨党齊齐偵侦顏颜於于個个來来們们";

static SIMPLIFIED: LazyLock<HashMap<char, char>> = LazyLock::new(|| {
    let mut characters = PAIRS.chars();
    let pairs = std::iter::from_fn(|| Some((characters.next()?, characters.next()?)));
    pairs.collect()
});

pub(crate) fn simplified(c: char) -> char {
    SIMPLIFIED.get(&c).copied().unwrap_or(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_has_its_simplified_one() {
        assert!(PAIRS.chars().count().is_multiple_of(2));
        for (traditional, simplified) in SIMPLIFIED.iter() {
            assert!(!traditional.is_ascii() && !simplified.is_ascii());
            assert_eq!(super::simplified(*simplified), *simplified, "{traditional}");
        }
        let written: String = "顯示卡驅動程式版本不符，記憶體不足"
            .chars()
            .map(simplified)
            .collect();
        assert_eq!(written, "显示卡驱动程式版本不符，记忆体不足");
    }
}
